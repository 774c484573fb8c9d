package eventgen

import "math"

// step is one event of a session's plan.
type step struct {
	kind  kind
	page  int32
	after int32  // milliseconds after the previous step
	pick  uint32 // pick selects values from the kind's lists. Steps that belong together have the same pick.
	stage uint8  // number of the typing stage of a query
}

// startSession plans the next session and its visitor.
func (g *Generator) startSession() {
	g.steps, g.next = g.steps[:0], 0
	g.context, g.shareKey, g.landing = "site", "null", ""
	g.now = g.rhythm.at(float64(g.made%g.options.Events) / float64(g.options.Events))
	visit := g.random.Uint64()
	switch draw := g.random.IntN(1000); {
	case draw < 880:
		g.person(visit)
	case draw < 940:
		g.crawler(visit)
	case draw < 990:
		g.agent(visit)
	default:
		g.feedReader(visit)
	}
}

// traits picks a visitor of a crowd. It squares a random number, so a few visitors are frequent and most are rare.
func (g *Generator) traits(crowd string, size int) uint64 {
	u := g.random.Float64()
	return mix(g.options.Seed ^ uint64(len(crowd))<<56 ^ uint64(u*u*float64(size)))
}

func (g *Generator) person(visit uint64) {
	arrival := referrers[arrivals[g.random.IntN(len(arrivals))]]
	g.landing = arrival.mark
	if g.chance(0.02) {
		g.shareKey = `"sh_` + string(appendID(nil, uint64(g.random.IntN(12))*7919+1e9, 8)) + `"`
	}
	if g.chance(0.06) {
		g.context = "embed"
	}
	g.session = g.appendSession(g.session[:0], g.traits("person", g.options.Visitors), visit, browsers, arrival.referrer, true)

	page := g.site.pick(g.random)
	for views := 0; ; views++ {
		g.add(pageView, page, g.dwell(9))
		if g.chance(0.03) {
			g.add(codeCopy, page, g.dwell(15))
		}
		if g.chance(0.01) {
			g.addPick(fileDownload, page, g.dwell(20), g.random.Uint32())
		}
		g.onPage(&page)
		if g.chance(0.3) { // the tracker does not report short visits
			g.addPick(pageLeave, page, 3000+g.dwell(30), g.random.Uint32())
		}
		// A third of the readers leave after the first page. A smaller share leaves after each later page.
		if views >= 25 || g.chance(0.34) && views == 0 || g.chance(0.22) && views > 0 {
			return
		}
		page = g.onward(page)
	}
}

// onward returns the page that is read next, which is often a neighbour in the same space.
func (g *Generator) onward(page int32) int32 {
	if near := page + int32(g.random.IntN(7)) - 3; g.chance(0.6) && near >= 0 && int(near) < len(g.site.pages) {
		return near
	}
	return g.site.pick(g.random)
}

// onPage adds a person's actions on a page, except reading it. An action may open another page.
func (g *Generator) onPage(page *int32) {
	p := *page
	if g.chance(0.08) {
		pick := g.random.Uint32()
		g.addPick(adDisplay, p, 400, pick)
		if g.chance(0.04) {
			g.addPick(adClick, p, g.dwell(12), pick)
		}
	}
	if g.site.pages[p].operation != "" && g.chance(0.18) {
		g.add(apiClientOpen, p, g.dwell(15))
		for g.chance(0.6) {
			g.add(apiClientRequest, p, g.dwell(20))
		}
	}
	if g.chance(0.12) {
		g.addPick(linkClick, p, g.dwell(25), g.random.Uint32())
	}
	if g.chance(0.03) {
		pick := g.random.Uint32()
		g.addPick(pageFeedback, p, g.dwell(50), pick)
		if g.chance(0.3) {
			g.addPick(pageFeedbackComment, p, g.dwell(20), pick)
		}
	}
	if g.chance(0.035) {
		g.ask(p)
	}
	if g.chance(0.006) {
		g.add(pageMarkdown, p, g.dwell(15))
	}
	if g.chance(0.003) {
		g.addPick(trademarkClick, p, g.dwell(30), g.random.Uint32())
	}
	if g.chance(0.11) {
		g.search(page)
	}
}

func (g *Generator) search(page *int32) {
	pick := g.random.Uint32()
	g.add(searchOpen, *page, g.dwell(10))
	first := uint8(g.random.IntN(queryStages))
	for stage := first; stage < queryStages; stage++ {
		g.steps = append(g.steps, step{kind: searchType, page: *page, after: 300 + int32(g.random.IntN(900)), pick: pick, stage: stage})
	}
	last := step{pick: pick, stage: queryStages - 1}
	if last.results() > 0 && g.chance(0.8) {
		g.addPick(searchResult, *page, g.dwell(4), pick)
		*page = g.resultPage(pick)
		g.add(pageView, *page, 350)
	}
}

func (g *Generator) ask(page int32) {
	pick := g.random.Uint32()
	g.add(askView, page, g.dwell(10))
	g.addPick(askQuestion, page, g.dwell(12), pick)
	if g.chance(0.25) {
		g.addPick(askRate, page, g.dwell(30), pick)
	}
}

func (g *Generator) crawler(visit uint64) {
	g.context = "server"
	g.session = g.appendSession(g.session[:0], g.traits("crawler", 200), visit, crawlers, "null", false)
	if g.chance(0.3) {
		g.addPick(llmsRequest, 0, 0, g.random.Uint32())
	}
	for range 2 + g.random.IntN(20) {
		// Crawlers visit all pages equally often.
		g.add(pageView, int32(g.random.IntN(len(g.site.pages))), 500+int32(g.random.IntN(4000)))
	}
}

// agent plans the session of an AI model that works for a person. The model fetches Markdown pages or uses the MCP
// server.
func (g *Generator) agent(visit uint64) {
	g.context = "server"
	size := max(50, g.options.Visitors/50)
	g.session = g.appendSession(g.session[:0], g.traits("agent", size), visit, agents, "null", false)
	page := g.site.pick(g.random)
	if g.chance(0.4) {
		g.context = "mcp"
		for range 1 + g.random.IntN(5) {
			g.add(mcpRequest, page, 800+int32(g.random.IntN(5000)))
			page = g.onward(page)
		}
	} else {
		if g.chance(0.4) {
			g.addPick(llmsRequest, page, 0, g.random.Uint32())
		}
		for range 1 + g.random.IntN(4) {
			g.add(pageMarkdown, page, 300+int32(g.random.IntN(3000)))
			page = g.onward(page)
		}
	}
	if g.chance(0.1) {
		g.add(agentFeedback, page, 2000)
	}
}

func (g *Generator) feedReader(visit uint64) {
	g.context = "server"
	g.session = g.appendSession(g.session[:0], g.traits("feed reader", 300), visit, readers, "null", false)
	g.add(rssRequest, 0, 0)
}

func (g *Generator) add(k kind, page, after int32) { g.addPick(k, page, after, 0) }

func (g *Generator) addPick(k kind, page, after int32, pick uint32) {
	g.steps = append(g.steps, step{kind: k, page: page, after: after, pick: pick, stage: queryStages - 1})
}

// dwell draws a person's reading time in milliseconds, at most ten minutes. `mean` is in seconds.
func (g *Generator) dwell(mean float64) int32 {
	return int32(min(-math.Log(1-g.random.Float64())*mean*1000, 600_000))
}
