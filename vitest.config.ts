import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Labs wait more than they work: three at a time keep two cores busy.
    maxWorkers: 3,
  },
})
