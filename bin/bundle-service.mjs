// Bundles the command line and the service with their packages into a few files. Opening a thousand small files took three fifths
// of the start time.
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { listPackages } from './bundled-packages.ts'

const ROOT = resolve(import.meta.dirname, '..')
const SOURCES = join(ROOT, 'src')

/** Its compiled code is a file that Node opens beside the package's own. */
const NOT_BUNDLED = ['better-sqlite3']

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

/** This package serves files beside its code. They are copied beside ours. */
const swaggerFolder = {
  name: 'swagger-folder',
  resolveId: (id) => (id === 'swagger-folder' ? '\0swagger-folder' : null),
  load: (id) =>
    id === '\0swagger-folder'
      ? `import { join } from 'node:path'
         export const folder = join(import.meta.dirname, 'swagger-ui')`
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

const OUT = join(ROOT, 'dist/service')

/**
 * The rooms that import no other room, the ports of the store and the contract of an edge, in one file, but what only one command
 * needs. The bundler makes a file for each set of commands that share something, most of them with less than 5 kB.
 */
const COMMON = {
  name: 'common',
  test: /\/src\/(model|primitives|terminal|store\/ports|edge\/(contract|record))\//,
  minShareCount: 2,
}

/** All that `drawbridge complete` needs besides its own file. */
const COMPLETION = {
  name: 'completion-parts',
  test: /\/src\/(cli\/service\/|primitives\/(abort|clock|retry)\.|terminal\/usage-error\.)/,
  priority: 1,
}

await build({
  root: SOURCES,
  configFile: false,
  logLevel: 'error',
  publicDir: false,
  plugins: [leanHttp, noGlob, swaggerFolder, listPackages('service')],
  build: {
    ssr: true,
    outDir: OUT,
    emptyOutDir: true,
    target: 'node22',
    sourcemap: true,
    rolldownOptions: {
      input: {
        'command-line': join(SOURCES, 'compose/command-line.ts'),
        completion: join(SOURCES, 'cli/completion/offered.ts'),
        version: join(SOURCES, 'runtime/version.ts'),
        'nginx-thread': join(SOURCES, 'nginx/process/nginx-thread.ts'),
        'parse-thread': join(SOURCES, 'estate/reading/parse-thread.ts'),
        'checkpoint-thread': join(SOURCES, 'store/dialects/checkpoint-thread.ts'),
      },
      // All files in one folder: a thread's file is loaded from the folder of the file that starts it.
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: '[name]-[hash].js',
        codeSplitting: { includeDependenciesRecursively: false, groups: [COMPLETION, COMMON] },
      },
    },
  },
  ssr: { noExternal: true, external: NOT_BUNDLED },
})

/** The page loads the bundle; the same code in parts is not needed. */
const isServed = (file) => !file.endsWith('/swagger-ui.js')
const swaggerUi = dirname(fileURLToPath(import.meta.resolve('@fastify/swagger-ui')))
cpSync(join(swaggerUi, 'static'), join(OUT, 'swagger-ui/static'), { recursive: true, filter: isServed })

// Node keeps here what it compiles at the first start. What it compiled of a former build is of no use.
const COMPILED = join(ROOT, 'dist/compiled')
rmSync(COMPILED, { recursive: true, force: true })
mkdirSync(COMPILED, { mode: 0o700 })
