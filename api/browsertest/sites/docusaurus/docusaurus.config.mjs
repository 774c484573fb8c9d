// The test writes snippet.mjs. It has the output of `octavo site snippet --for docusaurus`.
import snippet from './snippet.mjs'

export default {
  ...snippet,
  title: 'Example',
  url: process.env.SITE_URL,
  baseUrl: '/',
  presets: [['classic', { docs: { routeBasePath: '/', sidebarPath: false }, blog: false }]],
  themes: [['@easyops-cn/docusaurus-search-local', { docsRouteBasePath: '/', indexBlog: false }]],
}
