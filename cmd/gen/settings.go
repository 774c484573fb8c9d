package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
)

const settingsIntroduction = `# Settings

` + notice + settingsUse

const settingsUse = `A setting is a flag of ´octavo serve´ (´--kafka-topic´ for ´OCTAVO_KAFKA_TOPIC´), an environment
variable, and a member of the JSON file that ´--config´ or ´OCTAVO_CONFIG´ names (´{"kafka-topic": "events"}´). A flag
overrides the environment, which overrides the file. Other commands that use the engines take the same settings.

Units:

- bytes: a number, or a number with a unit, such as ´512MiB´. The names end with ´_BYTES´.
- duration: a number with a unit, such as ´10s´, ´5m´, ´24h´ or ´30d´.
- list: values separated by commas.

Every user of a machine can read its command lines. So a secret can also be read from a file: the variable with ´_FILE´
or the flag with ´-file´ names the file, and ´-´ is standard input.

`

const settingsEnd = `
Go's own settings apply too: ´GOMEMLIMIT´ is the memory that a node aims to stay below, without its engines. If absent,
it is the node's part of the memory, up to 196 MiB, and 128 MiB more while a job of Git runs. ´GOGC´ is 300 if absent.

A query yields to inserts if the process of the insights store may change priorities: it runs as root or has
´CAP_SYS_NICE´. The embedded engine needs the capability as an ambient one.
`

// settings writes the list of settings. It runs `octavo settings`, because no package can import the table in
// cmd/octavo.
func settings(b *bytes.Buffer) error {
	b.WriteString(quotedCode(settingsIntroduction))
	cmd := exec.CommandContext(context.Background(), "go", "run", "./cmd/octavo", "settings")
	cmd.Stdout, cmd.Stderr = b, os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	b.WriteString(quotedCode(settingsEnd))
	return nil
}
