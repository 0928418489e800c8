"""Fixtures of all tests here."""

from shared import *  # noqa: F403
