import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Notification } from '../../../../src/domain/core/notification.ts';
import type { Undo } from '../set-up.ts';
import type { Timeline } from '../timeline.ts';

/** Takes what a person is sent as their receiver would, and shows it. */
export interface Pager {
  readonly url: string;
  /** Pages and what may wait, in the order that they came. */
  readonly taken: readonly Notification[];
}

export async function startPager(timeline: Timeline, undo: Undo): Promise<Pager> {
  const taken: Notification[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const one = JSON.parse(body) as Notification;
      taken.push(one);
      timeline.tell('pager', one.text, one.severity === 'page' ? 'bad' : 'plain');
      response.writeHead(200).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  undo(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, taken };
}
