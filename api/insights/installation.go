package insights

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/remote/outbound"
	"github.com/octavo-docs/octavo/api/remote/pagecheck"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// installations checks whether pages of sites load the tracker and can send events.
type installations struct {
	store  *store.Store
	secret *access.KeySecret
	intake EventIntake
	urls   schema.URLs
	// files are the tracker's files that this node serves.
	files []frame.Static
	pages *pagecheck.Client
	// room limits how many checks run at once on this node. `rates` limits how often each site is checked.
	room  *semaphore.Weighted
	rates checkRates
}

// maxChecks is the largest number of checks that a node runs at the same time. A check takes at most pagecheck.Total.
const maxChecks = 4

func newInstallations(
	st *store.Store, intake EventIntake, urls schema.URLs, files []frame.Static, guard *outbound.Guard,
) *installations {
	return &installations{
		store: st, secret: access.NewKeySecret(st), intake: intake, urls: urls, files: files,
		pages: pagecheck.New(guard), room: semaphore.NewWeighted(maxChecks),
	}
}

func installationOperations(h *installations) []frame.Operation {
	return []frame.Operation{{
		Method: http.MethodPost, Path: insightsBase + "/installation-check", ID: "checkSiteInstallation",
		Tag: "insights", Strict: true,
		Doc: "Load a page of the site as a reader's browser does, and say whether its events would arrive: " +
			"`installed`; `notFound`, no tracker; `wrongKey`, a key that does not work or is another site's; " +
			"`hostNotAllowed`, a host that the key does not list; `blockedByCsp`, a content security policy that " +
			"refuses the script or its requests; `behindProxy`, visitors that may not be told apart; " +
			"`unreachable`, a page that this installation cannot load. No script is run. " +
			fmt.Sprintf("A site has %d checks at once, and one more every %d seconds. ",
				checkBurst, checkEvery/time.Second) +
			"An addition to the published contract.",
		Scope: access.Having(access.RightAdmin, access.OnInsights), Status: http.StatusOK,
		BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Timeout: pagecheck.Total + 5*time.Second,
		Handler: frame.Handle(h.check),
	}}
}

type installationRequest struct {
	Body struct {
		URL *string `json:"url" rules:"required,len=..2048,pattern=reachableURL"`
	} `body:"json"`
}

func (h *installations) check(
	ctx context.Context, c *access.Caller, r *installationRequest,
) (schema.InstallationCheck, error) {
	site := c.EventSite.SiteID
	if !h.room.TryAcquire(1) {
		return schema.InstallationCheck{}, schema.TooManyRequests("too many pages are being checked", checkEvery)
	}
	defer h.room.Release(1)
	// Only a check that can run now counts against the site's limit.
	if err := h.rates.take(site, c.Now); err != nil {
		return schema.InstallationCheck{}, err
	}
	bounded, cancel := context.WithTimeout(ctx, pagecheck.Total)
	defer cancel()
	page, problem := h.load(bounded, *r.Body.URL)
	if problem != "" {
		const advice = "The page cannot be loaded from here: %s. Check its address, and whether Octavo can reach it."
		return answerCheck(schema.VerdictUnreachable, *r.Body.URL, advice, problem), nil
	}
	return h.judge(bounded, site, page)
}

// load loads a page. `problem` is the reason why the page cannot be loaded, which is a result and not an error.
func (h *installations) load(ctx context.Context, address string) (page *pagecheck.Page, problem string) {
	page, err := h.pages.Load(ctx, address)
	if err != nil {
		return nil, err.Error()
	}
	return page, ""
}

func answerCheck(verdict, address, message string, values ...any) schema.InstallationCheck {
	return schema.InstallationCheck{
		Object: "installation-check", Verdict: verdict, URL: address, Message: fmt.Sprintf(message, values...),
	}
}

// judge returns the result of a check. It tests for one verdict after the other, and returns the first verdict that is
// true for the page.
func (h *installations) judge(
	ctx context.Context, site string, page *pagecheck.Page,
) (schema.InstallationCheck, error) {
	address := page.URL.String()
	found, ok := h.find(ctx, page)
	if !ok {
		const advice = "The page has neither the tracker nor the pixel. Add what `octavo site snippet %s` prints."
		return answerCheck(schema.VerdictNotFound, address, advice, site), nil
	}
	key, problem, err := h.readKey(ctx, site, found.key)
	if err != nil {
		return schema.InstallationCheck{}, err
	}
	if problem != "" {
		const advice = "The key %s %s. Put the text of a present key of this site into the page."
		return answerCheck(schema.VerdictWrongKey, address, advice, found.key, problem), nil
	}
	verdict, message := h.judgeUse(ctx, site, page, found, key)
	answer := answerCheck(verdict, address, "%s", message)
	answer.KeyID = key.id
	return answer, nil
}

// judgeUse returns the verdict about a page whose key is valid.
func (h *installations) judgeUse(
	ctx context.Context, site string, page *pagecheck.Page, found foundTracker, key goodKey,
) (verdict, message string) {
	if host := page.URL.Hostname(); !schema.HostAllowed(key.hosts, schema.HostOf(page.URL.String())) {
		const advice = "The key lists %s, and not the page's host. Add %s to the key's hosts."
		return schema.VerdictHostNotAllowed, fmt.Sprintf(advice, strings.Join(key.hosts, ", "), host)
	}
	for _, request := range found.requests() {
		if refused, yes := page.Refuses(found.script, request); yes {
			const advice = "The page's content security policy (%s) refuses %s. Add %s://%s to %s."
			return schema.VerdictBlockedByCSP, fmt.Sprintf(advice, refused.From, request.Target,
				request.Target.Scheme, request.Target.Host, refused.Directive)
		}
	}
	if outbound.SameOrigin(found.door, h.base()) {
		return h.judgeDirect(site, found)
	}
	return h.judgeProxied(ctx, page, found)
}

// judgeDirect returns the verdict about a page whose tracker sends events to Octavo's own address.
func (h *installations) judgeDirect(site string, found foundTracker) (verdict, message string) {
	if found.address != nil && outbound.SameOrigin(found.address, h.base()) {
		path := strings.TrimPrefix(found.address.EscapedPath(), strings.TrimRight(h.base().EscapedPath(), "/"))
		if !slices.ContainsFunc(h.files, func(f frame.Static) bool { return f.Path == path }) {
			const advice = "Octavo serves no script at %s. Use the address that `octavo site snippet %s` prints."
			return schema.VerdictNotFound, fmt.Sprintf(advice, found.address, site)
		}
	}
	if h.intake.OneAddress(site) {
		return schema.VerdictBehindProxy, "Nearly all events of this site come from one address, so visitors cannot " +
			"be told apart. Name the proxy before Octavo in OCTAVO_TRUSTED_PROXIES."
	}
	return schema.VerdictInstalled, "The page loads the tracker, its key works here, and nothing refuses its events."
}

// judgeProxied returns the verdict about a page whose tracker sends events to another address, which may be a proxy for
// Octavo.
func (h *installations) judgeProxied(
	ctx context.Context, page *pagecheck.Page, found foundTracker,
) (verdict, message string) {
	if found.address != nil {
		text, err := h.pages.Script(ctx, found.address)
		if err != nil {
			const advice = "The script %s cannot be loaded: %s. Let the proxy pass it on to Octavo."
			return schema.VerdictBehindProxy, fmt.Sprintf(advice, found.address, err)
		}
		if !slices.ContainsFunc(h.files, func(f frame.Static) bool { return string(f.Plain) == text }) {
			const advice = "The script %s is not Octavo's. Let the proxy pass it on unchanged."
			return schema.VerdictBehindProxy, fmt.Sprintf(advice, found.address)
		}
	}
	// This batch has no events, so nothing is stored.
	status, readable, err := h.pages.Post(ctx, page.URL, found.door, `{"id":"check","events":[]}`)
	if err == nil && (status != http.StatusNoContent || !readable) {
		err = fmt.Errorf("a batch is answered with the status %d", status)
	}
	if err != nil {
		const advice = "Events go to %s, which does not pass them on to Octavo: %s. " +
			"Let the proxy pass on POST requests with their answers."
		return schema.VerdictBehindProxy, fmt.Sprintf(advice, found.door.Host, err)
	}
	const advice = "Events arrive through %s. If that is a proxy, it must send X-Forwarded-For and stand in " +
		"OCTAVO_TRUSTED_PROXIES, otherwise visitors cannot be told apart. If it is Octavo's address, set " +
		"OCTAVO_PUBLIC_URL to it."
	return schema.VerdictBehindProxy, fmt.Sprintf(advice, found.door.Host)
}

// base returns Octavo's public address. NewURLs has checked that it can be parsed.
func (h *installations) base() *url.URL {
	base, err := url.Parse(h.urls.Base() + "/")
	if err != nil {
		return &url.URL{}
	}
	return base
}

// goodKey is a publishable key with which browsers can post events of the site.
type goodKey struct {
	id    string
	hosts []string
}

// readKey finds the publishable key that has this text. `problem` is the reason why browsers cannot post events of the
// site with the key, or "".
func (h *installations) readKey(ctx context.Context, site, text string) (key goodKey, problem string, err error) {
	secret, err := h.secret.Read(ctx)
	if err != nil {
		return key, "", err
	}
	id, generation, made := schema.ReadPublishableKey(secret, text)
	if !made {
		return key, "was not made by this installation", nil
	}
	row, err := h.store.Sites.PostingKey(ctx, id)
	if schema.IsCode(err, schema.CodeNotFound) {
		return key, "is deleted", nil
	}
	if err != nil {
		return key, "", err
	}
	if row.Site.SiteID != site {
		return key, "belongs to another site", nil
	}
	if ends, works := row.Ends(generation); !works || !ends.IsZero() && !time.Now().Before(ends) {
		return key, "was rotated, and its time is over", nil
	}
	return goodKey{id: id, hosts: row.Hosts}, "", nil
}
