package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestSecretsComeFromFiles reads every secret flag from a file and from standard input, with the documented precedence
// of secretFiles.
func TestSecretsComeFromFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("from the file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A parser takes some 60 ms to build. Each Parse sets all flags to their defaults again, so most cases share one.
	shared, sharedParser := secretsParser(t)
	for name, env := range map[string]string{
		"postgres-url": "OCTAVO_POSTGRES_URL", "clickhouse-url": "OCTAVO_CLICKHOUSE_URL", "kafka-password": "OCTAVO_KAFKA_PASSWORD",
		"bootstrap-token": "OCTAVO_BOOTSTRAP_TOKEN", "token": "OCTAVO_TOKEN",
	} {
		command := "serve"
		if name == "token" {
			command = "seed"
		}
		for _, c := range []struct {
			what  string
			args  []string
			env   map[string]string
			want  string
			wrong string
		}{
			{"its own value", []string{"--" + name + "=given", "--" + name + "-file=" + file}, nil, "given", ""},
			{"file flag", []string{"--" + name + "-file=" + file}, map[string]string{env: "from the environment"}, "from the file", ""},
			{"standard input", []string{"--" + name + "-file=-"}, nil, "from stdin", ""},
			{"environment", nil, map[string]string{env: "from the environment"}, "from the environment", ""},
			{"environment's file", nil, map[string]string{env + "_FILE": file}, "from the file", ""},
			{"environment's stdin", nil, map[string]string{env + "_FILE": "-"}, "from stdin", ""},
			{"both", nil, map[string]string{env: "x", env + "_FILE": file}, "", env + "_FILE"},
			{"no file", []string{"--" + name + "-file=" + file + ".none"}, nil, "", "--" + name},
			{"empty file", []string{"--" + name + "-file=/dev/null"}, nil, "", "--" + name},
		} {
			t.Run(name+" "+c.what, func(t *testing.T) {
				for _, clear := range []string{env, env + "_FILE"} {
					t.Setenv(clear, "") // Setenv restores it after the test
					_ = os.Unsetenv(clear)
				}
				for key, value := range c.env {
					t.Setenv(key, value)
				}
				cli, parser := shared, sharedParser
				if c.want == "from stdin" { // a parser reads standard input only once
					cli, parser = secretsParser(t)
				}
				args := append([]string{command}, c.args...)
				if name == "kafka-password" { // kafka-password is only valid with these flags
					args = append(args, "--kafka-brokers=a:1", "--kafka-sasl=plain", "--kafka-username=u")
				}
				_, err := parser.Parse(args)
				got := map[string]string{
					"postgres-url": cli.Serve.PostgresURL, "clickhouse-url": cli.Serve.ClickHouseURL, "kafka-password": cli.Serve.KafkaPassword,
					"bootstrap-token": cli.Serve.BootstrapToken, "token": cli.Seed.Token,
				}[name]
				if c.wrong != "" {
					if err == nil || !strings.Contains(err.Error(), c.wrong) {
						t.Errorf("got %q, %v, want an error that names %s", got, err, c.wrong)
					}
				} else if err != nil || got != c.want {
					t.Errorf("got %q, %v, want %q", got, err, c.want)
				}
			})
		}
	}
}

// secretsParser returns a parser with a secret on its standard input, and the commands whose flags the parser sets.
func secretsParser(t *testing.T) (*commands, *kong.Kong) {
	t.Helper()
	cli := &commands{}
	parser, err := kong.New(cli, options(strings.NewReader("from stdin\n"))...)
	if err != nil {
		t.Fatal(err)
	}
	return cli, parser
}

// TestSecretsAreTagged checks that every flag whose name looks like a secret is tagged as a secret.
func TestSecretsAreTagged(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&commands{}, options(strings.NewReader(""))...)
	if err != nil {
		t.Fatal(err)
	}
	flags := 0
	for _, leaf := range parser.Model.Leaves(false) {
		for _, group := range leaf.AllFlags(false) {
			for _, flag := range group {
				flags++
				telling := strings.HasSuffix(flag.Name, "token") || strings.HasSuffix(flag.Name, "password") ||
					strings.HasSuffix(flag.Name, "secret") || flag.Name == "postgres-url" || flag.Name == "clickhouse-url"
				if flag.Target.Kind() != reflect.String {
					continue // the flag is a limit per token
				}
				if telling && !flag.Tag.Has("secret") {
					t.Errorf("%s --%s is not tagged secret", leaf.Path(), flag.Name)
				}
			}
		}
	}
	if flags < 50 {
		t.Errorf("only %d flags were checked", flags)
	}
}
