// Package agentlist identifies programs by their user agent: the kind of program, its operator, and the operator's
// addresses. Its data are text files, which name their sources, dates and licences. It must not import the package
// intake.
package agentlist
