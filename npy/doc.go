// Package npy reads and writes NumPy's array file format (.npy), for one- and
// two-dimensional arrays of numbers.
//
// Start with [ReadMatrix] and [WriteMatrix]. Versions 1, 2 and 3 are read, in C
// and Fortran order and in both byte orders; version 1 in C order and
// little-endian is written, byte for byte as numpy.save writes it. Files that
// hold Python objects (pickles) or structured types are refused, so that
// reading never runs foreign code. Nothing here asks whether a number is
// finite.
//
// Format: NumPy Enhancement Proposal 1, https://numpy.org/neps/nep-0001-npy-format.html,
// and the documentation of numpy.lib.format.
package npy
