"""Reads the points, which only the evaluator knows."""
import csv
import os


def load():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "points.csv")
    with open(path) as file:
        return [(float(x), float(y)) for x, y in csv.reader(file)]
