package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/octavo-docs/octavo/api/remote/outbound"
	"github.com/octavo-docs/octavo/ingest/intake"
	"github.com/octavo-docs/octavo/ingest/intake/agentlist"
)

// AgentsCmd groups the commands for the sets of addresses by which agents are verified.
type AgentsCmd struct {
	List   AgentsListCmd   `cmd:"" help:"List the sets of addresses that operators of agents publish, with their age."`
	Update AgentsUpdateCmd `cmd:"" help:"Fetch the published addresses of agents into the data directory. Running nodes use them within a minute."`
}

// agentsFile returns the path of the file with the fetched addresses.
func agentsFile(s *Settings) string { return filepath.Join(s.DataDir, "agents", "ranges.txt") }

// publishedAddresses reads the file with the fetched addresses. If there is no such file, it returns the embedded
// addresses.
func publishedAddresses(s *Settings) (*agentlist.Ranges, error) {
	text, err := os.ReadFile(agentsFile(s))
	if errors.Is(err, os.ErrNotExist) {
		return agentlist.EmbeddedRanges(), nil
	}
	if err != nil {
		return nil, err
	}
	r, err := agentlist.ParseRanges(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", agentsFile(s), err)
	}
	return r, nil
}

// AgentsListCmd is `octavo agents list`.
type AgentsListCmd struct {
	Settings `embed:""`
	listFlags
}

// Run lists the sets.
func (c *AgentsListCmd) Run() error { return c.print(os.Stdout) }

func (c *AgentsListCmd) print(out io.Writer) error {
	r, err := publishedAddresses(&c.Settings)
	if err != nil {
		return err
	}
	return c.list(out, "SET\tDATE\tNETWORKS\tURL", func(list *rows) error {
		for _, s := range r.Sets() {
			if err := list.add(s, "%s\t%s\t%d\t%s", s.Name, cmp.Or(s.Date, "-"), s.Networks, s.URL); err != nil {
				return err
			}
		}
		return nil
	})
}

// AgentsUpdateCmd is `octavo agents update`.
type AgentsUpdateCmd struct {
	Settings `embed:""`
	From     map[string]string `help:"Another URL of a set, such as openai-gptbot=https://mirror.example.com/gptbot.json. Default: the operator's own."`
}

// agentLimits bound the fetch of a list.
var agentLimits = outbound.Limits{
	TLS: 10 * time.Second, Headers: 20 * time.Second, Whole: time.Minute, Redirects: 3,
	WireBytes: 4 << 20, Bytes: 4 << 20,
}

// Run fetches the lists.
func (c *AgentsUpdateCmd) Run() error {
	ctx, stop := untilSignalled()
	defer stop()
	return c.run(ctx, os.Stdout)
}

// run replaces each set whose list it can fetch. If it cannot fetch a list, the set stays as it was, and `run` returns
// an error.
func (c *AgentsUpdateCmd) run(ctx context.Context, out io.Writer) error {
	policy, err := c.outbound()
	if err != nil {
		return err
	}
	kept, err := publishedAddresses(&c.Settings)
	if err != nil {
		return err
	}
	urls := map[string]string{}
	for _, s := range kept.Sets() {
		urls[s.Name] = s.URL
	}
	for name, url := range c.From {
		if urls[name] == "" {
			return fmt.Errorf("there is no set %q of published addresses: octavo agents list names them", name)
		}
		urls[name] = url
	}
	client := outbound.New(outbound.Config{Policy: policy}).Client(agentLimits)
	changed, failed := kept, 0
	for _, s := range kept.Sets() {
		next, err := fetchAddresses(ctx, client, changed, s.Name, urls[s.Name])
		if err != nil {
			failed++
			_, _ = fmt.Fprintf(out, "%s: kept as it was: %v\n", s.Name, err)
			continue
		}
		changed = next
		_, _ = fmt.Fprintf(out, "%s: fetched\n", s.Name)
	}
	if changed != kept {
		if err := replaceFile(agentsFile(&c.Settings), []byte(changed.String())); err != nil {
			return fmt.Errorf("cannot write the published addresses: %w", err)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d lists of published addresses could not be fetched", failed, len(urls))
	}
	return nil
}

// fetchAddresses returns the addresses with one set replaced by the list at a URL.
func fetchAddresses(
	ctx context.Context, client *http.Client, r *agentlist.Ranges, name, url string,
) (*agentlist.Ranges, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, outbound.Explain(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer of %s is %d", url, res.StatusCode)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, outbound.Explain(err)
	}
	networks, err := agentlist.ReadPublished(body)
	if err != nil {
		return nil, err
	}
	return r.With(name, networks, time.Now())
}

// replaceFile replaces a file. If it fails, the old file is unchanged.
func replaceFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// agentsInterval is the interval at which a node looks for newly fetched addresses.
const agentsInterval = time.Minute

// followAgents makes the intake use the fetched addresses, now and when they change.
func (n *node) followAgents(in *intake.Intake) {
	f := agentsFollower{settings: n.settings, use: in.UseRanges, log: n.log}
	f.look()
	n.background("published addresses of agents", func(ctx context.Context) {
		ticks := time.NewTicker(agentsInterval)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
				f.look()
			}
		}
	})
}

// agentsFollower reads the fetched addresses when their file has changed. A node also starts without the file. If the
// file is absent or broken, the previous addresses stay in use.
type agentsFollower struct {
	settings *Settings
	use      func(*agentlist.Ranges)
	log      *slog.Logger
	read     time.Time // modification time of the file that was read last
}

func (f *agentsFollower) look() {
	file, err := os.Stat(agentsFile(f.settings))
	if err != nil || file.ModTime().Equal(f.read) {
		return
	}
	f.read = file.ModTime()
	r, err := publishedAddresses(f.settings)
	if err != nil {
		f.log.Error("Cannot read the published addresses of agents. The previous ones stay in use.", "error", err)
		return
	}
	f.use(r)
}
