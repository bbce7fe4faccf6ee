"""Plugins for Crisol in Python: docs/plugin-python.md."""

from . import columns, log
from .column import Column, Columns
from .errors import Failure, Rejection
from .from_json import from_json
from .groups import aggregator, ranker
from .hints import BigInt, Days, Double, Float, Int, Micros, SmallInt, TinyInt
from .moments import format_timestamp, parse_date, parse_timestamp
from .options import Option
from .output import Rejections
from .rows import decoder, transformer, validator
from .stage import Batch
from .types import Type, decimal

__all__ = [
    "Batch", "BigInt", "Column", "Columns", "Days", "Double", "Failure", "Float", "Int", "Micros", "Option", "Rejection",
    "Rejections", "SmallInt", "TinyInt", "Type", "aggregator", "columns", "decimal", "decoder", "format_timestamp",
    "from_json", "log", "parse_date", "parse_timestamp", "ranker", "transformer", "validator",
]
