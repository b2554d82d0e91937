import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { CallToolResult, Progress } from '@modelcontextprotocol/sdk/types.js'
import { expect } from 'vitest'
import { launcher } from '../../../lab/checkout.ts'
import { createClient } from '../../../src/client/index.ts'
import { mcpServer } from '../../../src/mcp/server.ts'
import type { Clock } from '../../../src/primitives/clock.ts'
import { VERSION } from '../../../src/runtime/version.ts'

/**
 * The SDK's own client on the built program, with a transcript of all messages. It lists the tools first, because only then
 * does the client validate every answer against the outputSchema of its tool.
 */
export async function startAgent(url: string, ...options: string[]) {
  const transport = new StdioClientTransport({
    command: launcher(),
    args: ['mcp', '--url', url, ...options],
    stderr: 'pipe',
  })
  const transcript: string[] = []
  transport.stderr?.on('data', (chunk: Buffer) => transcript.push(chunk.toString()))
  return connected(transport, transcript)
}

/** The same without a process of its own. */
export async function startAgentHere(url: string, { readOnly = false, owner, clock }: AgentHere = {}) {
  const [near, far] = InMemoryTransport.createLinkedPair()
  await mcpServer(createClient(url, { ...(clock && { clock }) }), { version: VERSION, readOnly, owner }).connect(far)
  return connected(near, [])
}

interface AgentHere {
  readonly readOnly?: boolean
  readonly owner?: string
  /** The clock by which it waits. */
  readonly clock?: Clock
}

async function connected(transport: Transport, transcript: string[]) {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  const { onmessage, send } = transport
  transport.onmessage = (message) => {
    transcript.push(JSON.stringify(message))
    onmessage?.(message)
  }
  transport.send = (message) => {
    transcript.push(JSON.stringify(message))
    return send.call(transport, message)
  }
  const { tools } = await client.listTools()
  const use = async (name: string, args: Record<string, unknown> = {}, onprogress?: (progress: Progress) => void) =>
    (await client.callTool({ name, arguments: args }, undefined, {
      timeout: 60_000,
      ...(onprogress && { onprogress }),
    })) as CallToolResult
  return { tools, transcript, use, close: () => client.close() }
}

export type Agent = Awaited<ReturnType<typeof startAgent>>

/** The error of a tool, as an agent reads it. */
export function errorOf({ isError, content }: CallToolResult): Record<string, unknown> {
  const [first] = content
  expect(isError, JSON.stringify(content)).toBe(true)
  return JSON.parse(first?.type === 'text' ? first.text : '')
}

export function structured({ isError, content, structuredContent }: CallToolResult): Record<string, string> {
  expect(isError, JSON.stringify(content)).not.toBe(true)
  return structuredContent as Record<string, string>
}
