// Checks the scripts of the page, of the SVG and of their tests for mistakes, not for their format. A global of the browser
// that is used for the first time is added to the list.
const BROWSER = [
  "addEventListener", "atob", "Blob", "cancelAnimationFrame", "clearTimeout", "DecompressionStream", "devicePixelRatio",
  "document", "getComputedStyle", "history", "ImageData", "innerHeight", "innerWidth", "localStorage", "location", "matchMedia",
  "navigator", "performance", "requestAnimationFrame", "ResizeObserver", "Response", "setTimeout", "TextDecoder", "TextEncoder",
  "URL", "URLSearchParams", "window",
];
const NODE = ["console", "process", "TextDecoder", "TextEncoder", "URL"];

const named = (names) => Object.fromEntries(names.map((name) => [name, "readonly"]));

const MISTAKES = [
  "array-callback-return", "constructor-super", "eqeqeq", "for-direction", "getter-return", "no-async-promise-executor",
  "no-caller", "no-case-declarations", "no-class-assign", "no-compare-neg-zero", "no-cond-assign", "no-const-assign",
  "no-constant-binary-expression", "no-constant-condition", "no-debugger", "no-delete-var",
  "no-dupe-args", "no-dupe-class-members", "no-dupe-else-if", "no-dupe-keys", "no-duplicate-case", "no-duplicate-imports",
  "no-empty", "no-empty-character-class", "no-empty-pattern", "no-eval", "no-ex-assign", "no-extra-boolean-cast",
  "no-fallthrough", "no-func-assign", "no-global-assign", "no-implied-eval", "no-import-assign", "no-inner-declarations",
  "no-invalid-regexp", "no-irregular-whitespace", "no-loss-of-precision", "no-misleading-character-class", "no-new-func",
  "no-new-native-nonconstructor", "no-obj-calls", "no-octal", "no-prototype-builtins", "no-redeclare", "no-regex-spaces",
  "no-self-assign", "no-self-compare", "no-setter-return", "no-shadow-restricted-names", "no-sparse-arrays",
  "no-template-curly-in-string", "no-this-before-super", "no-throw-literal", "no-undef", "no-unexpected-multiline",
  "no-unmodified-loop-condition", "no-unreachable", "no-unsafe-finally", "no-unsafe-negation", "no-unsafe-optional-chaining",
  "no-unused-labels", "no-unused-private-class-members", "no-unused-vars", "no-useless-backreference", "no-useless-catch",
  "no-useless-escape", "no-var", "no-with", "prefer-const", "require-yield", "use-isnan", "valid-typeof",
];
const rules = Object.fromEntries(MISTAKES.map((name) => [name, "error"]));

export default [
  { ignores: ["build*/"] },
  { files: ["**/*.js"], languageOptions: { ecmaVersion: 2022, sourceType: "module", globals: named(BROWSER) }, rules },
  { files: ["**/svg/*.js"], languageOptions: { sourceType: "script" } },
  { files: ["tests/bench/languages/*.js"], languageOptions: { globals: named(NODE) } },
  { files: ["**/*.mjs"], languageOptions: { ecmaVersion: 2022, sourceType: "module", globals: named(NODE) }, rules },
];
