import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')

/** What is in the package besides our own code. Their texts are those that came with them. */
interface Notice {
  readonly name: string
  readonly text: string
}

/** Not bundled, because of its compiled code, which has the second one in it. */
const SQLITE = ['node_modules/better-sqlite3', 'node_modules/node-addon-api']

const RULE = '-'.repeat(79)

/**
 * The text of `copyright`: our licence, then the licence of each npm package that has code in the bundles of the service and of the
 * web page, then of what these bring along, then of Node.
 */
export function copyrightText(): string {
  const notices = [...bundledFolders().map(packageNotice), ...BROUGHT_ALONG, nodeNotice()]
  const parts = notices.map(({ name, text }) => `${RULE}\n${name}\n\n${text.trim()}\n`)
  const names = notices.map(({ name }) => `  ${name}\n`).join('')
  return [
    `Drawbridge\n\n${read('LICENSE').trim()}\n`,
    `The package contains parts of these works. Their licences follow.\n\n${names}`,
    ...parts,
  ].join('\n')
}

/** Folders of the npm packages that have code in the packages, in order. */
export const bundledFolders = (): readonly string[] => [
  ...[...new Set(['service', 'web'].flatMap(packagesInBundle))].sort(),
  ...SQLITE,
]

/** Folders of npm packages below the checkout, as the build has written them. */
export function packagesInBundle(bundle: string): readonly string[] {
  return JSON.parse(read(`dist/bundled/${bundle}.json`))
}

function packageNotice(folder: string): Notice {
  const { name, version, license, author } = JSON.parse(read(`${folder}/package.json`))
  const title = `${name} ${version} (${license})`
  const file = readdirSync(join(ROOT, folder)).find((entry) => /^(licen[cs]e|copying)/i.test(entry))
  if (file !== undefined) return { name: title, text: read(`${folder}/${file}`) }
  const holder = typeof author === 'string' ? author : author?.name
  if (license !== 'MIT' || holder === undefined)
    throw new Error(`${folder} has no licence text, and its package.json is not enough for one.`)
  return { name: title, text: `Copyright (c) ${holder}\n\n${MIT_TERMS}` }
}

const MIT_TERMS = read('LICENSE').replace(/^[\s\S]*?(?=Permission is hereby granted)/, '')

const BROUGHT_ALONG: readonly Notice[] = [
  {
    name: 'Swagger UI, in @fastify/swagger-ui (Apache-2.0)',
    text: `Copyright SmartBear Software Inc.

Licensed under the Apache License, Version 2.0. Its text is below the name of @opentelemetry/api, and at
http://www.apache.org/licenses/LICENSE-2.0.`,
  },
  {
    name: 'SQLite, in better-sqlite3 (public domain)',
    text: 'The authors of SQLite have dedicated its code to the public domain: https://sqlite.org/copyright.html.',
  },
]

/** Debian wants to know where the text of a licence is that is named. */
const GPL = `The text below names the GNU General Public License for scripts that build Node. None of them is in this package. On Debian its text
is in /usr/share/common-licenses/GPL.`

function nodeNotice(): Notice {
  const folder = 'node_modules/node/node_modules'
  const [licence] = readdirSync(join(ROOT, folder))
    .filter((name) => name.startsWith('node-linux-'))
    .map((name) => `${folder}/${name}/LICENSE`)
    .filter((file) => existsSync(join(ROOT, file)))
  if (licence === undefined) throw new Error('The licence of Node is missing in node_modules/node. Run `npm ci`.')
  const { version } = JSON.parse(read('node_modules/node/package.json'))
  return { name: `Node.js ${version}, with V8, ICU, OpenSSL and others`, text: `${GPL}\n\n${read(licence)}` }
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}
