"""The review page: HTTP routes behind one door, over the review database."""

from pipeline.annotation.web.access import Annotator, PageKeys
from pipeline.annotation.web.alone import TokenInAddress, alone, listen, serve
from pipeline.annotation.web.app import create_app

__all__ = ["Annotator", "PageKeys", "TokenInAddress", "alone", "create_app", "listen", "serve"]
