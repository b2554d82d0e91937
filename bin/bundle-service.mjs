// Puts the command line and the service, with the packages that consist of hundreds of small files, into a few files:
// opening a thousand of them was three fifths of what it cost to start. The other packages stay where npm put them.
import { join, resolve } from 'node:path'
import { build } from 'vite'

const HOUSE = resolve(import.meta.dirname, '..')
const SOURCES = join(HOUSE, 'src')

await build({
  root: SOURCES,
  configFile: false,
  logLevel: 'error',
  publicDir: false,
  build: {
    ssr: true,
    outDir: join(HOUSE, 'dist/service'),
    emptyOutDir: true,
    target: 'node22',
    sourcemap: true,
    rolldownOptions: {
      input: {
        'command-line': join(SOURCES, 'compose/command-line.ts'),
        'nginx-thread': join(SOURCES, 'edge/process/nginx-thread.ts'),
      },
      // All in one folder: the thread is found beside whoever starts it.
      output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
  ssr: { noExternal: ['kysely', 'typebox'] },
})
