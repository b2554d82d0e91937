import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { CallToolResult, Progress } from '@modelcontextprotocol/sdk/types.js'
import { expect } from 'vitest'
import { launcher } from '../../../lab/checkout.ts'

/**
 * The SDK's own client on the built program, with a transcript of all messages. It lists the tools first, because only then
 * does the client validate every answer against the outputSchema of its tool.
 */
export async function startAgent(url: string, ...options: string[]) {
  const transcript: string[] = []
  const transport = new StdioClientTransport({
    command: launcher(),
    args: ['mcp', '--url', url, ...options],
    stderr: 'pipe',
  })
  transport.stderr?.on('data', (chunk: Buffer) => transcript.push(chunk.toString()))
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
