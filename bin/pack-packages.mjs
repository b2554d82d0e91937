// Puts packages of hundreds of small files into one file each, beside the built code, which finds them there first.
// Opening those files was half of what it cost to start the service. Without this step everything works, only slower.
import { copyFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const HOUSE = resolve(import.meta.dirname, '..')
const LICENSES = { kysely: 'LICENSE', typebox: 'license' }

for (const [name, license] of Object.entries(LICENSES)) {
  const outDir = join(HOUSE, 'dist/node_modules', name)
  const input = fileURLToPath(import.meta.resolve(name))
  await build({
    configFile: false,
    logLevel: 'error',
    build: {
      ssr: true,
      outDir,
      emptyOutDir: true,
      rolldownOptions: { input, output: { entryFileNames: 'index.js' } },
    },
    ssr: { noExternal: true },
  })
  writeFileSync(join(outDir, 'package.json'), JSON.stringify({ name, type: 'module', exports: './index.js' }))
  copyFileSync(join(HOUSE, 'node_modules', name, license), join(outDir, license))
}
