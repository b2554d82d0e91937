import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { listPackages } from '../bin/bundled-packages.ts'

/** A file of fewer bytes is sent as it is: it would not arrive sooner. */
const FITS_IN_A_PACKET = 1_200

export default defineConfig({
  plugins: [react(), compressed(), listPackages('web')],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    // One style sheet: it is small, and the package has a limit of files.
    cssCodeSplit: false,
    // Small files must not become data URLs, which the content security policy forbids.
    assetsInlineLimit: 0,
  },
})

/** Writes a compressed copy of each file, so that the service need not compress it for each request. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    // Vite fills in which files a chunk needs when everything else is done, so only the written files are whole.
    writeBundle({ dir = '' }, bundle) {
      for (const fileName of Object.keys(bundle)) {
        const path = join(dir, fileName)
        const content = readFileSync(path)
        if (content.length >= FITS_IN_A_PACKET) writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }))
      }
    },
  }
}
