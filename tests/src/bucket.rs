//! A real S3 server on loopback, which checks signatures and stores its files in a directory.

use std::path::Path;

use fanfare_media::S3;
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto::Builder,
};
use s3s::{auth::SimpleAuth, service::S3ServiceBuilder};
use s3s_fs::FileSystem;
use tokio_util::sync::CancellationToken;

const ACCESS: &str = "AKIA-TEST";
const SECRET: &str = "secret-of-the-test";

/// A server whose buckets are subdirectories of one directory.
pub struct S3Server {
    /// Address of the bucket `media`, as `FANFARE_MEDIA_URL` has it.
    pub url: String,
    /// Keys to it.
    pub keys: S3,
}

impl S3Server {
    /// Serves the bucket `media`, whose files lie in `dir/media`, until `stop`.
    ///
    /// # Panics
    /// There is no free port, or no directory.
    pub async fn serve(dir: &Path, stop: CancellationToken) -> Self {
        let mut service = S3ServiceBuilder::new(FileSystem::new(dir).expect("a directory"));
        service.set_auth(SimpleAuth::from_single(ACCESS, SECRET));
        let service = service.build();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let accept = async move {
            while let Ok((socket, _)) = listener.accept().await {
                let service = service.clone();
                tokio::spawn(async move {
                    let connection = Builder::new(TokioExecutor::new());
                    let _ = connection.serve_connection(TokioIo::new(socket), service).await;
                });
            }
        };
        tokio::spawn(async move {
            tokio::select! { () = accept => {} () = stop.cancelled() => {} }
        });
        let keys =
            S3 { access_key: Some(ACCESS.into()), secret_key: Some(SECRET.into()), region: None };
        Self { url: format!("s3://media?endpoint=http://{address}"), keys }
    }
}
