import { createHmac } from 'node:crypto'

/** The key in a secret as Standard Webhooks writes it: `whsec_` and its bytes in base64. */
export const keyOf = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ''), 'base64')

/** The headers that let a receiver know a message as ours, and as one it has had before. */
export function signedHeaders(key: Buffer, id: string, atMs: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000))
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
