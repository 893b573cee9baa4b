import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** A mail that was handed over. */
export interface HandedMail {
  /** As it was given for AUTH. */
  readonly user: string;
  readonly password: string;
  readonly text: string;
}

export interface SmtpServer {
  readonly port: number;
  readonly mails: readonly HandedMail[];
  close(): Promise<void>;
}

/** A mail server that takes any user and password (RFC 5321, RFC 4954 with LOGIN and PLAIN), and keeps what it was given. */
export async function startSmtpServer(): Promise<SmtpServer> {
  const mails: HandedMail[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    converse(socket, (mail) => mails.push(mail));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    mails,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

type Next = (line: string) => void;

function converse(socket: Socket, handed: (mail: HandedMail) => void): void {
  const say = (line: string) => socket.write(`${line}\r\n`);
  let [user, password, text] = ['', '', ''];
  let next: Next = command;

  function command(line: string): void {
    const [verb = '', ...rest] = line.split(' ');
    switch (verb.toUpperCase()) {
      case 'EHLO':
        say('250-here');
        say('250 AUTH LOGIN PLAIN');
        return;
      case 'AUTH':
        if (rest[0] === 'PLAIN') plain(rest[1] ?? '');
        else login();
        return;
      case 'DATA':
        say('354 go on');
        next = data;
        return;
      case 'QUIT':
        say('221 bye');
        socket.end();
        return;
      default:
        say('250 OK');
    }
  }

  function plain(encoded: string): void {
    const parts = Buffer.from(encoded, 'base64').toString('utf8').split('\0');
    [user, password] = [parts[1] ?? '', parts[2] ?? ''];
    say('235 welcome');
  }

  function login(): void {
    say('334 VXNlcm5hbWU6');
    next = (name) => {
      user = Buffer.from(name, 'base64').toString('utf8');
      say('334 UGFzc3dvcmQ6');
      next = (secret) => {
        password = Buffer.from(secret, 'base64').toString('utf8');
        say('235 welcome');
        next = command;
      };
    };
  }

  function data(line: string): void {
    if (line !== '.') {
      text += `${line}\n`;
      return;
    }
    handed({ user, password, text });
    say('250 taken');
    next = command;
  }

  let rest = '';
  socket.on('data', (chunk) => {
    const lines = (rest + chunk.toString('utf8')).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) next(line);
  });
  say('220 here');
}
