// The test writes snippet.mjs: what `octavo site snippet --for vitepress` prints.
import snippet from './snippet.mjs'

export default {
  ...snippet,
  title: 'Example',
  themeConfig: {
    search: { provider: 'local' },
    sidebar: [{ text: 'Guide', items: [{ text: 'Home', link: '/' }, { text: 'Webhooks', link: '/webhooks' }] }],
  },
}
