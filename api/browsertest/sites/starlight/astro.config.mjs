// The test writes snippet.mjs. It has the output of `octavo site snippet --for starlight`, and replaces the functions
// that this output calls by functions that return their arguments.
import starlight from '@astrojs/starlight'
import { defineConfig } from 'astro/config'
import snippet from './snippet.mjs'

export default defineConfig({
  site: process.env.SITE_URL,
  integrations: [starlight({ ...snippet.integrations[0], title: 'Example', sidebar: ['', 'webhooks'] })],
})
