import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Plugin } from 'vite'

const BUNDLED = resolve(import.meta.dirname, '../dist/bundled')

/** Code that the bundler itself adds stands in modules without a file. */
const ADDED_BY: readonly (readonly [RegExp, string])[] = [
  [/^\0rolldown\//, 'node_modules/rolldown'],
  [/^\0vite\//, 'node_modules/vite'],
  [/^\0@oxc-project\+runtime/, 'node_modules/rolldown'],
]

/** Writes which npm packages have code in a bundle: `dist/bundled/NAME.json`, a list of their folders. The package tells their licences. */
export function listPackages(name: string): Plugin {
  return {
    name: 'list-packages',
    apply: 'build',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((part) => (part.type === 'chunk' ? Object.keys(part.modules) : []))
      const folders = [...new Set(modules.map(packageOf))].filter((folder) => folder !== undefined).sort()
      mkdirSync(BUNDLED, { recursive: true })
      writeFileSync(join(BUNDLED, `${name}.json`), `${JSON.stringify(folders, null, 2)}\n`)
    },
  }
}

/** The folder below the checkout. The innermost one: a package may have others in a `node_modules` of its own. */
function packageOf(module: string): string | undefined {
  const added = ADDED_BY.find(([form]) => form.test(module))
  if (added) return added[1]
  const [, folder] = /\/(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(module) ?? []
  return folder
}
