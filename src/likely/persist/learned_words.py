"""Whether a file's terms and their numbers of documents can have been learned from documents."""

from typing import Any

from likely.errors import InvalidInput
from likely.persist.encoding import same_count


def check_bag_of_words(learned: dict[str, Any]) -> None:
    """Terms that occur once, each in at most as many documents as there are."""
    terms, n = learned["terms_"], learned["n_documents_"]
    terms.check()
    frequency = learned["document_frequency_"]
    if frequency.ndim != 1 or frequency.size - len(terms) not in (0, 1):  # unknown terms come last
        same_count("document_frequency_", frequency.shape, (len(terms),))
    if ((frequency < 0) | (frequency > n)).any():
        raise InvalidInput(
            f"document_frequency_ must be from 0 to n_documents_, {n}. Save the model again."
        )
