"""Files: written so that they are whole, and models in them, without pickle.

``model_file.py`` has ``save`` and ``load``.
"""
