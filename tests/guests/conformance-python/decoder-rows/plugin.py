"""Messages with fields of all types that JSON has."""

import crisol
from crisol import Batch
from tests.table import Asking, Textual


@crisol.decoder(name="conformance", version="0.1.0", reuse=True, options=Asking)
class Conformance:
    def open(self, batch: Batch) -> None:
        self.asked = batch.options
        self.asked.opened()

    def decode(self, message: str) -> Textual:
        self.asked.failing("push")
        return crisol.from_json(Textual, message)
