//! An SMTP session.

use std::io;

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

use super::{MailFault, MailServer, ReceivedMail};

/// The most bytes of a command, and of a line of a mail.
const LINE: u64 = 2_000;

/// The most bytes of a mail.
const LETTER: usize = 1 << 20;

/// The envelope of the mail that is being sent.
#[derive(Default)]
struct Envelope {
    from: Option<String>,
    to: Vec<String>,
    trouble: Option<MailFault>,
}

/// The next state of the connection.
enum Next {
    Go(String),
    Data,
    End(String),
}

/// Runs the session until the client quits or disconnects.
pub(super) async fn run_session(server: &MailServer, stream: TcpStream) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut envelope = Envelope::default();
    write_reply(&mut stream, "220 fanfare.test keeps letters").await?;
    while let Some(command) = line(&mut stream).await? {
        match answer(server, &mut envelope, &command) {
            Next::Go(reply) => write_reply(&mut stream, &reply).await?,
            Next::End(reply) => return write_reply(&mut stream, &reply).await,
            Next::Data => {
                write_reply(&mut stream, "354 go on, a dot alone ends it").await?;
                let Some(data) = letter(&mut stream).await? else { return Ok(()) };
                let Envelope { from, to, trouble } = std::mem::take(&mut envelope);
                server.store(ReceivedMail { from: from.unwrap_or_default(), to, data });
                if trouble == Some(MailFault::LoseAnswer) {
                    return Ok(());
                }
                write_reply(&mut stream, "250 kept").await?;
            }
        }
    }
    Ok(())
}

fn answer(server: &MailServer, envelope: &mut Envelope, command: &str) -> Next {
    let go = |reply: &str| Next::Go(reply.to_owned());
    let (verb, rest) = command.split_once([' ', ':']).unwrap_or((command, ""));
    match verb.to_ascii_uppercase().as_str() {
        "EHLO" | "HELO" => {
            *envelope = Envelope::default();
            go("250 fanfare.test")
        }
        "MAIL" if envelope.from.is_some() => go("503 one letter at a time"),
        "MAIL" => match address(rest) {
            Some(from) => {
                *envelope = Envelope { from: Some(from), ..Envelope::default() };
                go("250 fine")
            }
            None => go("501 MAIL FROM:<address>"),
        },
        "RCPT" if envelope.from.is_none() => go("503 MAIL comes first"),
        "RCPT" => {
            let trouble = server.next_fault();
            if let Some(MailFault::Refuse(status)) = trouble {
                return Next::Go(format!("{status} not this one"));
            }
            envelope.trouble = trouble;
            match address(rest) {
                Some(to) => {
                    envelope.to.push(to);
                    go("250 fine")
                }
                None => go("501 RCPT TO:<address>"),
            }
        }
        "DATA" if envelope.to.is_empty() => go("503 RCPT comes first"),
        "DATA" => Next::Data,
        "RSET" => {
            *envelope = Envelope::default();
            go("250 forgotten")
        }
        "NOOP" => go("250 fine"),
        "QUIT" => Next::End("221 goodbye".to_owned()),
        _ => go("502 not known here"),
    }
}

/// Returns the text between the angle brackets.
fn address(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('<')?;
    let (address, _) = rest.split_once('>')?;
    Some(address.to_owned())
}

async fn write_reply(stream: &mut BufReader<TcpStream>, reply: &str) -> io::Result<()> {
    stream.get_mut().write_all(format!("{reply}\r\n").as_bytes()).await
}

/// Reads a line without its end; `None` when the client disconnected.
async fn line(stream: &mut BufReader<TcpStream>) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    (&mut *stream).take(LINE).read_until(b'\n', &mut bytes).await?;
    if bytes.pop() != Some(b'\n') {
        return Ok(None);
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Reads a mail up to the final dot; `None` when the client disconnected before it, or the mail is too long.
async fn letter(stream: &mut BufReader<TcpStream>) -> io::Result<Option<String>> {
    let mut data = String::new();
    while let Some(line) = line(stream).await? {
        if line == "." {
            return Ok(Some(data));
        }
        data.push_str(line.strip_prefix('.').unwrap_or(&line));
        data.push_str("\r\n");
        if data.len() > LETTER {
            return Ok(None);
        }
    }
    Ok(None)
}
