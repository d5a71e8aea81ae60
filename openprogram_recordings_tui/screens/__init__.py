"""The screens and dialogs; they post messages or return a value, and decide nothing."""
