"""Whether a file's terms and their numbers of documents can have been learned from documents."""

from typing import Any

from likely.errors import InvalidInput
from likely.storage.values import same_count


def check_bag_of_words(model: Any, learned: dict[str, Any]) -> None:
    """Terms that occur once, each in at most as many documents as there are."""
    terms, n = learned["terms_"], learned["n_documents_"]
    terms.check()
    frequency = learned["document_frequency_"]
    if model.n_features is None:
        n_columns = len(terms) + (model.unknown == "count")
    else:
        n_columns = int(model.n_features) if model.use_idf else 0
    same_count("document_frequency_", frequency.shape, (n_columns,))
    if ((frequency < 0) | (frequency > n)).any():
        raise InvalidInput(
            f"document_frequency_ must be from 0 to n_documents_, {n}. Save the model again."
        )


def check_text_classifier(learned: dict[str, Any]) -> None:
    """Words and a model, both fitted, with the same columns; the model has the classes."""
    words, model = learned["words_"], learned["model_"]
    if "n_documents_" not in vars(words) or "classes_" not in vars(model):
        raise InvalidInput(
            "a text classifier holds fitted words and a fitted model; one of them is not fitted. "
            "Save the model again."
        )
    same_count("The columns of the model", vars(model).get("n_features_in_"), words.n_columns)
    theirs = model.classes_.tolist()
    same_count("The classes of the model", theirs, learned["classes_"].tolist())
    if learned["n_documents_"] < 0:
        raise InvalidInput(f"n_documents_ is {learned['n_documents_']}; it must be 0 or more.")
