# PyVision and its demo, as an ordinary user: docker build -t pyvision . && docker run -p 7860:7860 pyvision
# With Docker's default privileges cells run in the landlock tier; docs/deploy.md says what bubblewrap needs.
FROM python:3.12-slim AS build
WORKDIR /src
COPY . .
RUN python -m venv /opt/pyvision \
 && /opt/pyvision/bin/pip install --no-cache-dir --constraint requirements.lock '.[demo]'

FROM python:3.12-slim
RUN apt-get update \
 && apt-get install --yes --no-install-recommends bubblewrap libseccomp2 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --create-home pyvision
COPY --from=build /opt/pyvision /opt/pyvision
COPY examples /home/pyvision/examples
ENV PATH=/opt/pyvision/bin:$PATH PYTHONUNBUFFERED=1
USER 10001
WORKDIR /home/pyvision
EXPOSE 7860
CMD ["pyvision", "demo", "--host", "0.0.0.0", "--port", "7860"]
