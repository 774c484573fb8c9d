// The test writes snippet.mjs: what `octavo site snippet --for starlight` prints, with functions that return what they
// are given.
import starlight from '@astrojs/starlight'
import { defineConfig } from 'astro/config'
import snippet from './snippet.mjs'

export default defineConfig({
  site: process.env.SITE_URL,
  integrations: [starlight({ ...snippet.integrations[0], title: 'Example', sidebar: ['', 'webhooks'] })],
})
