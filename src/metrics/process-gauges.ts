import { Counter, Gauge, type Registry } from 'prom-client'

/**
 * What is usual for a Node program, under the usual names. The default metrics of prom-client also watch the event loop, which wakes the
 * process a hundred times a second.
 */
export function addProcessGauges(registers: Registry[]): void {
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of this process, of the user and the system, in seconds.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / 1e6)
    },
  })
  const memory: Readonly<Record<string, readonly [keyof NodeJS.MemoryUsage, string]>> = {
    process_resident_memory_bytes: ['rss', 'Resident memory.'],
    nodejs_heap_size_total_bytes: ['heapTotal', 'Size of the heap.'],
    nodejs_heap_size_used_bytes: ['heapUsed', 'Used part of the heap.'],
    nodejs_external_memory_bytes: ['external', 'Memory outside the heap.'],
  }
  for (const [name, [member, help]] of Object.entries(memory))
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(process.memoryUsage()[member])
      },
    })
  const { version } = process
  new Gauge({ name: 'nodejs_version_info', help: 'The version of Node.', labelNames: ['version'], registers }).set(
    { version },
    1,
  )
}
