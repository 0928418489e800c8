// What is odd in the page's modules. Names that nobody defined are TypeScript's to find.

import js from "@eslint/js";

/** What files say is put in as text: with make(…) or textContent. */
const AS_HTML = ["innerHTML", "outerHTML", "insertAdjacentHTML", "setHTMLUnsafe", "write", "writeln", "createContextualFragment"];

export default [
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "no-undef": "off",
      "no-unused-expressions": "error",
      "no-sequences": "error",
      "no-shadow": "error",
      "no-var": "error",
      "prefer-const": "error",
      "prefer-template": "error",
      "object-shorthand": "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-duplicate-imports": "error",
      "sort-imports": ["error", { ignoreDeclarationSort: true }],
      eqeqeq: "error",
      "no-restricted-properties": ["error", ...AS_HTML.map((property) => ({ property, message: "Use make(…) or textContent." }))],
      // What the linker does not join: see build/link.rs.
      "no-restricted-syntax": ["error", "ExportDefaultDeclaration", "ExportAllDeclaration", "ExportNamedDeclaration[declaration=null]", "ExportNamedDeclaration > VariableDeclaration[kind='let']", "ImportDefaultSpecifier", "ImportNamespaceSpecifier"],
    },
  },
];
