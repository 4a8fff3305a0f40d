MODE = "dict"
