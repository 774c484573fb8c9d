package tracker

// form has the snippet for sites of one kind.
type form struct {
	name string
	// text has the parts of Snippet in braces.
	text string
}

// loader is a script that loads the tracker, where a generator adds scripts without attributes.
const loader = `const script = Object.assign(document.createElement('script'), { {properties} })
script.dataset.key = '{key}'
document.head.append(script)
`

// forms are the kinds of sites, in the order of the command's help.
var forms = []form{
	{"html", `<!-- In the head of every page: -->
{tag}
`},
	{"docusaurus", `// In docusaurus.config.js:
export default {
  scripts: [{ defer: true, {members} }],
}
`},
	{"vitepress", `// In .vitepress/config.js:
export default {
  head: [['script', { defer: '', {members} }]],
}
`},
	{"starlight", `// In astro.config.mjs:
export default defineConfig({
  integrations: [starlight({
    head: [{ tag: 'script', attrs: { defer: true, {members} } }],
  })],
})
`},
	{"mkdocs", `# Material for MkDocs. In mkdocs.yml:
theme:
  name: material
  custom_dir: overrides
extra:
  analytics:
    provider: octavo
    feedback: # the question below each page; leave it out if you want none
      title: Was this page helpful?
      ratings:
        - { icon: material/thumb-up-outline, name: Helpful, data: 1, note: Thank you! }
        - { icon: material/thumb-down-outline, name: Not helpful, data: 0, note: Thank you! }

<!-- In overrides/partials/integrations/analytics/octavo.html: -->
{tag}
<script>
  document.addEventListener('DOMContentLoaded', () => document$.subscribe(() => {
    const form = document.forms.feedback
    if (!form) return
    form.hidden = false
    form.addEventListener('submit', (e) => {
      e.preventDefault()
      const value = e.submitter.dataset.mdValue
      form.firstElementChild.disabled = true
      const note = form.querySelector(".md-feedback__note [data-md-value='" + value + "']")
      if (note) note.hidden = false
    })
  }))
</script>
`},
	{"mkdocs-plain", `# In mkdocs.yml:
extra_javascript:
  - octavo.js

// In docs/octavo.js:
` + loader},
	{"mdbook", `<!-- In theme/head.hbs: -->
{tag}
`},
	{"nextra", nextScript},
	{"fumadocs", nextScript},
	{"hugo", `<!-- In layouts/partials/hooks/head-end.html (Docsy), layouts/_partials/custom/head-end.html (Hextra),
     or the partial that your theme puts into the head: -->
{tag}
`},
	{"antora", `# In antora-playbook.yml:
ui:
  supplemental_files: ./supplemental-ui

<!-- In supplemental-ui/partials/head-meta.hbs: -->
{tag}
`},
	{"sphinx", `# In conf.py:
html_js_files = [("{src}", {"defer": "defer", {attributes}})]
`},
	{"gitbook", `# An integration, for front ends of GitBook's renderer that you run. The front end of
# deploy/front-end sends events already and needs none. gitbook.com lets only its own
# integrations add scripts.
# In gitbook-manifest.yaml:
name: octavo
title: Octavo
description: Sends readers' events to Octavo.
visibility: private
target: site
script: ./src/index.ts
scopes: [site:script:inject]
contentSecurityPolicy:
  script-src: "{origin};"
  connect-src: "{origin};"
configurations:
  site:
    properties: {}

// In src/index.ts:
import { createIntegration } from '@gitbook/runtime'
import script from './octavo.raw.js'

export default createIntegration({
  fetch_published_script: async () => new Response(script, {
    headers: { 'Content-Type': 'application/javascript', 'Cache-Control': 'max-age=604800' },
  }),
})

// In src/octavo.raw.js:
` + loader},
	{"pixel", `<!-- Where no script runs: README files, feeds, mails. Each time the image is loaded counts as
     a page view. Name the page: -->
<img src="{base}/e/{key}.gif?url=https%3A%2F%2Fdocs.example.com%2Fpage" alt="" width="1" height="1">
`},
}

// nextScript is the component of Next.js. It may run a script twice, but the tracker starts only once.
const nextScript = `// In the root layout, inside <body>:
import Script from 'next/script'

<Script strategy="afterInteractive" {jsx} />
`
