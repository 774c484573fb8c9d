// The test writes snippet.mjs. It has the output of `octavo site snippet --for vitepress`.
import snippet from './snippet.mjs'

export default {
  ...snippet,
  title: 'Example',
  themeConfig: {
    search: { provider: 'local' },
    sidebar: [{ text: 'Guide', items: [{ text: 'Home', link: '/' }, { text: 'Webhooks', link: '/webhooks' }] }],
  },
}
