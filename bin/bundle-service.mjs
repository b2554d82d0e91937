// Bundles the command line and the service with most of their packages into a few files. Opening a thousand small files took
// three fifths of the start time.
import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'vite'

const ROOT = resolve(import.meta.dirname, '..')
const SOURCES = join(ROOT, 'src')

/** Packages with files of their own beside the code, and packages that few installations use. They are loaded from node_modules. */
const NOT_BUNDLED = ['@modelcontextprotocol/sdk', 'better-sqlite3', 'openapi-fetch', 'pg', 'pino', 'undici']

/**
 * An ES import of node:http reads every export, also WebSocket, for which Node loads a whole HTTP client. That took 60 ms of each
 * start. `require` reads only what is used.
 */
const leanHttp = {
  name: 'lean-http',
  enforce: 'pre',
  resolveId: (id, _importer, { kind }) => (id === 'node:http' && kind === 'import-statement' ? '\0lean-http' : null),
  load: (id) =>
    id === '\0lean-http'
      ? `import { createRequire } from 'node:module'
         export const { Agent, createServer, request } = createRequire(import.meta.url)('node:http')`
      : null,
}

/** This package reads files beside its code, so its code must know their folder. */
const swaggerFolder = {
  name: 'swagger-folder',
  resolveId: (id) => (id === 'swagger-folder' ? '\0swagger-folder' : null),
  load: (id) =>
    id === '\0swagger-folder'
      ? `import { createRequire } from 'node:module'
         import { dirname } from 'node:path'
         export const folder = dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui'))`
      : null,
  transform: (code, id) => {
    const [, file] = id.split('/node_modules/@fastify/swagger-ui/')
    if (!file?.endsWith('.js')) return null
    const place = `require('swagger-folder').folder`
    return code.replaceAll('__dirname', file.startsWith('lib/') ? `${place} + '/lib'` : place)
  },
}

/** @fastify/static lists the files of a folder with it when told to. Nothing here does, and to load it took 30 ms of each start. */
const noGlob = {
  name: 'no-glob',
  enforce: 'pre',
  resolveId: (id) => (id === 'glob' ? '\0no-glob' : null),
  load: (id) =>
    id === '\0no-glob'
      ? `export const glob = () => { throw new Error('Folders are served by wildcard routes.') }`
      : null,
}

await build({
  root: SOURCES,
  configFile: false,
  logLevel: 'error',
  publicDir: false,
  plugins: [leanHttp, noGlob, swaggerFolder],
  build: {
    ssr: true,
    outDir: join(ROOT, 'dist/service'),
    emptyOutDir: true,
    target: 'node22',
    sourcemap: true,
    rolldownOptions: {
      input: {
        'command-line': join(SOURCES, 'compose/command-line.ts'),
        'nginx-thread': join(SOURCES, 'edge/process/nginx-thread.ts'),
        'parse-thread': join(SOURCES, 'edge/reading/parse-thread.ts'),
      },
      // All files in one folder: a thread's file is loaded from the folder of the file that starts it.
      output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
  ssr: { noExternal: true, external: NOT_BUNDLED },
})

// Node keeps here what it compiles at the first start. What it compiled of a former build is of no use.
const COMPILED = join(ROOT, 'dist/compiled')
rmSync(COMPILED, { recursive: true, force: true })
mkdirSync(COMPILED, { mode: 0o700 })
