import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, vi } from 'vitest'
import { WebhookReceiver } from '../../support/http/webhook-receiver.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { endings } from './restarts/endings.ts'
import { reload } from './restarts/reload.ts'
import { rights } from './restarts/rights.ts'
import { webhooks } from './restarts/webhooks.ts'

vi.setConfig({ testTimeout: 180_000 })

/** All that kills the service, ends it, or gives it another configuration, on one lab. */
const SECRET = `whsec_${randomBytes(32).toString('base64')}`
const folder = tempFolder()
const receiver = new WebhookReceiver(SECRET)
let lab: TestLab
beforeAll(async () => {
  await receiver.listen()
  const secretFile = join(folder.path, 'webhook-secret')
  writeFileSync(secretFile, `${SECRET}\n`, { mode: 0o600 })
  const all = { url: receiver.url, secretFile, timeoutSeconds: 1 }
  const only = { events: ['exposure.removed'], hosts: ['poison.lab.test'], tries: 1 }
  const one = { ...all, url: `${receiver.url}/nowhere`, ...only }
  lab = await startTestLab({
    configure: (config) => ({ ...config, adminToken: 'internal', webhooks: { all, one } }),
    deathsAllowed: Number.POSITIVE_INFINITY,
  })
})
afterAll(async () => {
  await lab?.stop()
  await receiver.close()
  folder[Symbol.dispose]()
})

describe('webhooks', () => webhooks(() => lab, receiver, SECRET))
describe('reload', () => reload(() => lab))
describe('the end of the service', () => endings(() => lab))
describe('rights in the audit', () => rights(() => lab))
