// In docusaurus.config.js:
export default {
  scripts: [{ defer: true, 'src': 'http://octavo.test:44811/o.docs.4c4c0e566d55914f.js', 'data-key': 'opk_test', 'integrity': 'sha384-16adAf5wZO7dshMHd7IGgp/FqbvSu+NxgjGD6da33Yu6bpV40QSr4YiHSr4ImTKa', 'crossorigin': 'anonymous' }],
}
