"""Facts of one source file: definitions, signatures, deprecations, attributes, exports."""
