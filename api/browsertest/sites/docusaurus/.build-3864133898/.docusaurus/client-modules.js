export default [
  require("/work/h/me/api/browsertest/sites/docusaurus/node_modules/infima/dist/css/default/default.css"),
  require("/work/h/me/api/browsertest/sites/docusaurus/node_modules/@docusaurus/theme-classic/lib/prism-include-languages"),
  require("/work/h/me/api/browsertest/sites/docusaurus/node_modules/@docusaurus/theme-classic/lib/nprogress"),
];
