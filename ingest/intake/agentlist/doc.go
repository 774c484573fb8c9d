// Package agentlist knows programs by their user agent: what kind of program it is, whose it is, and from which
// addresses its operator sends it. Its data are text files with their sources, dates and licences. It imports nothing
// of the intake.
package agentlist
