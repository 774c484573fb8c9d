package chserver

import (
	"bytes"
	_ "embed"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
)

// This file configures the engine's own access control. All engine connections have one user. This user has two roles
// and no other rights. roleWire is for clients' statements. roleRows may read files, and is for the server's own
// statement that reads a client's blocks. users.xml has the rights of each role.
const (
	roleWire = "wire"
	roleRows = "rows"
)

// usersFile contains no passwords, because the server, and not the engine, checks logins.
//
//go:embed users.xml
var usersFile []byte

// writeAccess writes the engine's configuration and returns its path. The configuration is rewritten at each start, so
// that it always matches the program.
func writeAccess(dataDir string) (path string, err error) {
	dir, err := filepath.Abs(filepath.Join(dataDir, "octavo"))
	if err != nil {
		return "", fmt.Errorf("cannot write the engine's configuration: %w", err)
	}
	empty, users := filepath.Join(dir, "empty"), filepath.Join(dir, "users.xml")
	if err := os.MkdirAll(empty, 0o700); err != nil {
		return "", fmt.Errorf("cannot write the engine's configuration: %w", err)
	}
	path = filepath.Join(dir, "config.xml")
	for name, text := range map[string][]byte{users: usersFile, path: configFile(users, empty)} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return "", fmt.Errorf("cannot write the engine's configuration: %w", err)
		}
	}
	return path, nil
}

// configFile returns the engine's configuration. It names the users file, sets every directory to an empty folder, and
// allows no remote addresses.
func configFile(users, empty string) []byte {
	var b bytes.Buffer
	b.WriteString("<clickhouse>\n")
	for _, setting := range [][2]string{
		{"users_config", users}, {"user_files_path", empty + "/"}, {"format_schema_path", empty + "/"},
		{"user_scripts_path", empty + "/"}, {"dictionaries_lib_path", empty + "/"}, {"remote_url_allow_hosts", ""},
	} {
		b.WriteString("<" + setting[0] + ">")
		_ = xml.EscapeText(&b, []byte(setting[1])) // a write to a buffer does not fail
		b.WriteString("</" + setting[0] + ">\n")
	}
	b.WriteString("</clickhouse>\n")
	return b.Bytes()
}
