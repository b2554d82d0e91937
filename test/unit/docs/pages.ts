import { readdirSync, readFileSync } from 'node:fs'

/** A Markdown file of the project. */
export interface Page {
  readonly path: string
  readonly text: string
}

const AT_THE_ROOT = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']

/** All Markdown files of the project. */
export function pages(): Page[] {
  const inDocs = readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`)
  return [...AT_THE_ROOT, ...inDocs.toSorted()].map((path) => ({ path, text: readFileSync(path, 'utf8') }))
}
