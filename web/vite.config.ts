import { gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { listPackages } from '../bin/bundled-packages.ts'

export default defineConfig({
  plugins: [react(), compressed(), listPackages('web')],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    // Small files must not become data URLs, which the content security policy forbids.
    assetsInlineLimit: 0,
  },
})

/** Writes a compressed copy of each file, so that the service need not compress it for each request. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    enforce: 'post',
    generateBundle(_options, bundle) {
      for (const [fileName, part] of Object.entries(bundle)) {
        const source = part.type === 'chunk' ? part.code : part.source
        this.emitFile({ type: 'asset', fileName: `${fileName}.gz`, source: gzipSync(source, { level: 9 }) })
      }
    },
  }
}
