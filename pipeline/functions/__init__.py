"""Task functions with tests of several kinds, each right for a release of a library (VersiCode's executable subset)."""

from pipeline.functions.function import read_tests
from pipeline.functions.masking import mask_function
from pipeline.functions.rules import FunctionRules
from pipeline.functions.stage import functions_stage
from pipeline.functions.writing import Writers as FunctionWriters

__all__ = ["FunctionRules", "FunctionWriters", "functions_stage", "mask_function", "read_tests"]
