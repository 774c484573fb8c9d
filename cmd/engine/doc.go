// Package engine is empty. It has these folders:
//
//	embedded     runs the engines as supervised child processes
//	supervise    keeps child processes alive
//	memory       divides the memory of a machine or container between the parts of a node
//	packages     finds the engines that `make engines` installed
//	chserver     ClickHouse: a server around libchdb
//	kafkaserver  the event log: a broker that speaks Kafka's protocol
//	pgserver     Postgres: its data directory, passwords and settings
//	typst        renders PDFs in a child process
//	embedding    converts texts to vectors, which show how similar conversations are
//	fetchmodel   downloads the model that compares conversations
//	enginetest   starts engines for tests
package engine
