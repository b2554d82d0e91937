import { gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

export default defineConfig({
  plugins: [react(), compressed()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    // What is small enough would be put into the page as data; the policy for scripts and styles allows none there.
    assetsInlineLimit: 0,
  },
})

/** Each file once more, compressed, so that this is not done while somebody waits. */
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
