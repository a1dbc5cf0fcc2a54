"""Vendor facts: made from the descriptions of vendors, and checked."""
