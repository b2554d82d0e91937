import { afterEach } from 'vitest'
import { borrowersSoFar } from './shared-lab.ts'

// A shared lab may have been left in a state that only shows in the file of another borrower.
afterEach(({ task }) => {
  const borrowers = borrowersSoFar()
  if (task.result?.state !== 'fail' || borrowers.length < 2) return
  console.error(`The shared lab of this worker was used before by:\n  ${borrowers.slice(0, -1).join('\n  ')}`)
})
