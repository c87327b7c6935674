// Package report renders what eval found, and the tables of other commands,
// for a terminal, a pipe or a pull request. It knows how things look and not
// how they were computed.
package report
