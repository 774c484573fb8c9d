// Package agentlist identifies programs by their user agent: the kind of program, its operator, and the operator's
// addresses. Its data are text files with their sources, dates and licences. It imports no code of the intake.
package agentlist
